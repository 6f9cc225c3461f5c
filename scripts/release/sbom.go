package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// newSBOM returns the software bill of materials of a binary as CycloneDX JSON: the
// modules that the Go linker recorded in it, with their checksums, and the standard
// library. It has no random serial number, and its time is that of the source.
func newSBOM(binary []byte, name string, src source) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, err
	}
	program := component(cyclonedx.ComponentTypeApplication, debug.Module{Path: info.Main.Path, Version: src.version})
	program.Name = name
	sum := sha256.Sum256(binary)
	program.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	std := component(cyclonedx.ComponentTypeLibrary,
		debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})
	components := []cyclonedx.Component{std}
	refs := []string{std.BOMRef}
	for _, dep := range info.Deps { // by path
		if dep.Replace != nil {
			dep = dep.Replace
		}
		c := component(cyclonedx.ComponentTypeLibrary, *dep)
		if c.Hashes, err = moduleHash(dep.Sum); err != nil {
			return nil, fmt.Errorf("%s: %w", dep.Path, err)
		}
		components = append(components, c)
		refs = append(refs, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp:  src.time.Format(time.RFC3339),
		Component:  &program,
		Properties: settings(info),
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return encode(bom)
}

func encode(bom *cyclonedx.BOM) ([]byte, error) {
	var out bytes.Buffer
	encoder := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	err := encoder.EncodeVersion(bom, cyclonedx.SpecVersion1_6)
	return out.Bytes(), err
}

func component(kind cyclonedx.ComponentType, m debug.Module) cyclonedx.Component {
	purl := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	return cyclonedx.Component{BOMRef: purl, Type: kind, Name: m.Path, Version: m.Version, PackageURL: purl}
}

// moduleHash converts the checksum of a module, as it is in go.sum.
func moduleHash(sum string) (*[]cyclonedx.Hash, error) {
	encoded, ok := strings.CutPrefix(sum, "h1:")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return nil, fmt.Errorf("the binary has no checksum of this module, but %q", sum)
	}
	return &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}, nil
}

// settings returns how the binary was built: its platform, for one.
func settings(info *debug.BuildInfo) *[]cyclonedx.Property {
	properties := []cyclonedx.Property{}
	for _, s := range info.Settings {
		properties = append(properties, cyclonedx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	return &properties
}

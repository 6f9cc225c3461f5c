package regulator_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/source/regulator"
)

func TestParseOpenData(t *testing.T) {
	got, err := regulator.ParseOpenData(2026, read(t, "opendata.html"), regulator.PublicOrigin)
	if err != nil {
		t.Fatal(err)
	}
	want := []regulator.FundArchive{
		{Year: 2026, Month: time.January, Link: "https://www.cnmv.es/webservices/verdocumento/ver?e=ene"},
		{Year: 2026, Month: time.February, Link: "https://www.cnmv.es/webservices/verdocumento/ver?e=feb%2b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = regulator.ParseOpenData(2026, []byte("<html></html>"), regulator.PublicOrigin)
	wantMarkup(t, err, "no table")
	_, err = regulator.ParseOpenData(2026, read(t, "opendata.html")[:300], regulator.PublicOrigin)
	wantMarkup(t, err, "too early")
}

// archive packs files, given as names and contents.
func archive(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for n := 0; n < len(members); n += 2 {
		w, err := z.Create(members[n])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(members[n+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const companies = `<SocRegistro><Entidad><Tipo>SICAV</Tipo><NumeroRegistro>0099</NumeroRegistro><Denominacion>CARTERA INVENTADA, SICAV</Denominacion></Entidad></SocRegistro>`

func TestParseFundRecords(t *testing.T) {
	got, err := regulator.ParseFundRecords(archive(t,
		"FONDREGISTRO.xsd", "<broken",
		"202606/FONDREGISTRO_202606.XML", string(read(t, "fondregistro.xml")),
		"FONDMENS.xml", "<broken",
		`a\SocRegistro.xml`, companies,
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []regulator.FundRecord{
		{
			Register: "fi", Number: 4720, Name: "FONDO IMAGINARIO AÑIL, FI", Manager: "GESTORA INVENTADA, SGIIC", Depositary: "BANCO DE MENTIRA",
			ISINs: []string{"ES0100000001", "ES0100000019", "ES0100000027"},
		},
		{Register: "fil", Number: 7, Name: "LIBRE DE FICCIÓN, FIL", Gone: true},
		{Register: "sicav", Number: 99, Name: "CARTERA INVENTADA, SICAV"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFundRecordFaults(t *testing.T) {
	funds := string(read(t, "fondregistro.xml"))
	for _, test := range []struct {
		name    string
		archive []byte
		records int
		want    string
	}{
		{"no archive", []byte("<html>Error</html>"), 0, "not an archive"},
		{"another archive", archive(t, "FONDMENS.xml", "<a/>"), 0, "no FONDREGISTRO"},
		{"no fund", archive(t, "FONDREGISTRO.xml", "<FondRegistro/>"), 0, "no fund"},
		{"cut", archive(t, "FONDREGISTRO.xml", funds[:strings.Index(funds, "<Tipo>FHF")]), 1, "too early"},
		{"one of two broken", archive(t, "FONDREGISTRO.xml", "<a", "SOCREGISTRO.xml", companies), 1, "too early"},
		{"a text without end", archive(t, "FONDREGISTRO.xml", "<a>"+strings.Repeat(" ", 1<<20+1)+"</a>"), 0, "broken"},
		{"too deep", archive(t, "FONDREGISTRO.xml", strings.Repeat("<a>", 1000)), 0, "broken"},
		{"a bomb", archive(t, "FONDREGISTRO.xml", "<a>"+strings.Repeat("<b>"+strings.Repeat(" ", 1<<16)+"</b>", 33)+"</a>"), 0, "too large when unpacked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			records, err := regulator.ParseFundRecordsWithin(test.archive, 2<<20)
			wantMarkup(t, err, test.want)
			if len(records) != test.records {
				t.Errorf("%d records, want %d", len(records), test.records)
			}
		})
	}
}

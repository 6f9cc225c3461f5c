package proof_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/proof"
)

const logName = "example.org/log"

// keys returns a key pair that is the same in every run for the same seed.
func keys(t testing.TB, name string, seed byte) (note.Signer, note.Verifier) {
	t.Helper()
	secret, public, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{seed}, 64)), name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

func sign(t testing.TB, c proof.Checkpoint, signers ...note.Signer) []byte {
	t.Helper()
	text, err := c.Sign(signers...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCheckpoint(t *testing.T) {
	key, verifier := keys(t, logName, 1)
	old, oldVerifier := keys(t, logName, 2)
	witness, witnessVerifier := keys(t, "witness.example", 3)
	_, other := keys(t, logName, 4)
	for _, c := range []proof.Checkpoint{
		{Origin: logName, Size: 7, Root: leafHash(7)},
		{Origin: logName, Size: 0, Root: rootOf(nil)},
		{Origin: logName, Size: 7, Root: leafHash(7), Extensions: []string{"one", "two"}},
	} {
		text := sign(t, c, key, old, witness)
		for _, known := range [][]note.Verifier{{verifier}, {oldVerifier}, {verifier, witnessVerifier}, {verifier, oldVerifier, other}} {
			got, err := proof.OpenCheckpoint(text, note.VerifierList(known...))
			if err != nil || !reflect.DeepEqual(got, c) {
				t.Errorf("read %+v with %d keys, want %+v (%v)", got, len(known), c, err)
			}
		}
		if got, err := proof.ParseCheckpoint(text); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("read %+v, want %+v (%v)", got, c, err)
		}
		_, err := proof.OpenCheckpoint(text, note.VerifierList(other))
		if _, ok := errors.AsType[*note.UnverifiedNoteError](err); !ok {
			t.Errorf("with an unknown key the error is %v", err)
		}
		changed := bytes.Replace(text, []byte("\n"), []byte("x\n"), 1)
		_, err = proof.OpenCheckpoint(changed, note.VerifierList(verifier))
		if _, ok := errors.AsType[*note.InvalidSignatureError](err); !ok {
			t.Errorf("with a changed text the error is %v", err)
		}
		if _, err := proof.OpenCheckpoint(text, note.VerifierList(witnessVerifier)); err == nil || !strings.Contains(err.Error(), "signed only by") {
			t.Errorf("a checkpoint that only a witness signed has the error %v", err)
		}
		if _, err := proof.OpenCheckpoint(text, nil); err == nil {
			t.Error("without keys a checkpoint is valid")
		}
	}
}

// TestCheckpointAsPublished reads the example of the specification.
func TestCheckpointAsPublished(t *testing.T) {
	const text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n" +
		"— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
	c, err := proof.ParseCheckpoint([]byte(text))
	if err != nil || c.Origin != "example.com/behind-the-sofa" || c.Size != 20852163 ||
		c.Root.String() != "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=" {
		t.Errorf("read %+v (%v)", c, err)
	}
}

func TestCheckpointThatIsNotSigned(t *testing.T) {
	key, _ := keys(t, logName, 1)
	other, _ := keys(t, "other.example", 1)
	good := proof.Checkpoint{Origin: logName, Size: 7, Root: leafHash(7)}
	for name, change := range map[string]func(c *proof.Checkpoint){
		"no origin":       func(c *proof.Checkpoint) { c.Origin = "" },
		"origin of lines": func(c *proof.Checkpoint) { c.Origin = logName + "\n7\n" + leafHash(7).String() },
		"size -1":         func(c *proof.Checkpoint) { c.Size = -1 },
		"empty tree":      func(c *proof.Checkpoint) { c.Size = 0 },
		"empty extension": func(c *proof.Checkpoint) { c.Extensions = []string{""} },
		"long extension":  func(c *proof.Checkpoint) { c.Extensions = []string{"a\nb"} },
		"other origin":    func(c *proof.Checkpoint) { c.Origin = "third.example" },
	} {
		c := good
		change(&c)
		if text, err := c.Sign(key, other); err == nil {
			t.Errorf("%s is signed:\n%s", name, text)
		}
	}
	if _, err := good.Sign(); err == nil {
		t.Error("it is signed without a key")
	}
}

func TestWrongCheckpoints(t *testing.T) {
	key, verifier := keys(t, logName, 1)
	root := leafHash(7).String()
	for _, body := range []string{
		"", logName, logName + "\n7", logName + "\n\n" + root, logName + "\n07\n" + root, logName + "\n+7\n" + root, logName + "\n-7\n" + root,
		logName + "\n7\n" + root[:40], logName + "\n7\n" + root[:42] + "J=", logName + "\n0\n" + root, logName + "\n7\n" + root + "\n\nx",
		logName + "\n9223372036854775808\n" + root, logName + "\n9223372036854775807\n" + root, logName + "\n4611686018427387904\n" + root, "\n7\n" + root,
		logName + "\n7\n" + root + "\n" + strings.Repeat("x", proof.MaxCheckpoint),
	} {
		text, err := note.Sign(&note.Note{Text: body + "\n"}, key)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := proof.OpenCheckpoint(text, note.VerifierList(verifier)); err == nil {
			t.Errorf("%.100q is read as %+v", body, c)
		}
		if c, err := proof.ParseCheckpoint(text); err == nil {
			t.Errorf("%.100q is read as %+v", body, c)
		}
	}
}

func FuzzCheckpoint(f *testing.F) {
	key, verifier := keys(f, logName, 1)
	c := proof.Checkpoint{Origin: logName, Size: 7, Root: leafHash(7)}
	f.Add(sign(f, c, key))
	c.Extensions = []string{"more"}
	f.Add(sign(f, c, key))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := proof.ParseCheckpoint(text)
		if err != nil {
			if _, err := proof.OpenCheckpoint(text, note.VerifierList(verifier)); err == nil {
				t.Error("it can be opened, but not read")
			}
			return
		}
		signer, verifier := keys(t, "x", 9)
		if signer, verifier = renamed(signer, verifier, c.Origin); strings.ContainsAny(c.Origin, " +") {
			return // no key may have such a name
		}
		again, err := c.Sign(signer)
		if err != nil {
			return // a name that package note does not accept
		}
		if got, err := proof.OpenCheckpoint(again, note.VerifierList(verifier)); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%+v is read as %+v (%v)", c, got, err)
		}
	})
}

type renamedSigner struct {
	note.Signer
	name string
}

func (s renamedSigner) Name() string { return s.name }

type renamedVerifier struct {
	note.Verifier
	name string
}

func (v renamedVerifier) Name() string { return v.name }

func renamed(s note.Signer, v note.Verifier, name string) (note.Signer, note.Verifier) {
	return renamedSigner{s, name}, renamedVerifier{v, name}
}

var _ tlog.HashReader = (*proof.Tree)(nil)

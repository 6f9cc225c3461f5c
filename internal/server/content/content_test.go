package content_test

import (
	"slices"
	"testing"

	"pregon/internal/server/content"
)

func TestParseAccept(t *testing.T) {
	got := content.ParseAccept([]string{"Text/HTML, text/*;q=0.5;level=1,", " */* ; Q=x"})
	want := []content.MediaRange{{"text/html", 1}, {"text/*", 0.5}, {"*/*", 0}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTag(t *testing.T) {
	if got, want := content.Tag(content.Hash([]byte("pregon"))), content.Tag(content.Hash([]byte("pregón"))); got == want {
		t.Errorf("two bodies have the tag %s", got)
	}
	if got, want := content.Tag(255), `W/"ff"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

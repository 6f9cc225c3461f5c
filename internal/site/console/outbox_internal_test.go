package console

import (
	"slices"
	"testing"
)

// Addresses of this service become links, and nothing else does.
func TestPieces(t *testing.T) {
	c := &Console{Options{BaseURL: "http://127.0.0.1:8080"}}
	const text = "Confirm:\nhttp://127.0.0.1:8080/alerts/confirm?code=x\nNot http://127.0.0.1:80801/ or https://other.example/."
	want := []piece{
		{Text: "Confirm:\n"},
		{URL: "http://127.0.0.1:8080/alerts/confirm?code=x"},
		{Text: "\nNot http://127.0.0.1:80801/ or https://other.example/."},
	}
	if got := c.pieces(text); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

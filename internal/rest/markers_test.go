package rest

import "testing"

// What is between the lines of sign-in is in the document only where people can sign
// in, and the lines themselves never are.
func TestMarkers(t *testing.T) {
	const document = "a: 1\n  # begin sign-in\n  b: 2\n  # end sign-in\nc: 3 # begin sign-in\n# begin sign-in\nd: 4\n# end sign-in\ne: 5"
	for signIn, want := range map[bool]string{
		false: "a: 1\nc: 3 # begin sign-in\ne: 5",
		true:  "a: 1\n  b: 2\nc: 3 # begin sign-in\nd: 4\ne: 5",
	} {
		if got := string(withoutMarkers([]byte(document), signIn)); got != want {
			t.Errorf("sign-in %t: got %q, want %q", signIn, got, want)
		}
	}
}

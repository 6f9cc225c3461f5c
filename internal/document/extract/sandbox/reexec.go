package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// settingsEnv is the environment variable that passes the settings to the
// re-executed program.
const settingsEnv = "EXTRACT_SETTINGS"

// inherited returns the settings of a re-executed child, and reports whether the
// process is one.
func inherited() (s Settings, ok bool, err error) {
	body, ok := os.LookupEnv(settingsEnv)
	if !ok {
		return s, false, nil
	}
	os.Unsetenv(settingsEnv)
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		return s, true, fmt.Errorf("decode the inherited settings: %w", err)
	}
	return s, true, nil
}

// confine prepares the program and re-executes it with no more privileges than
// reading needs. It returns only if that fails. Documents are then read in an
// unconfined process, which still has no secrets and is killed at its limits;
// the greeting reports this to the parent.
func (p Program) confine(s Settings) Settings {
	policy := Policy{Write: []string{os.DevNull}}
	if !s.Workbooks {
		if err := p.Prepare(s); err != nil {
			s.Greeting.Uncached, s.CacheDir = err.Error(), ""
		}
		policy.Read = p.Files(s)
	}
	status, err := Exec(policy, func(status Status) []string {
		s.Greeting.Confined = status
		body, _ := json.Marshal(s) // cannot fail: strings and numbers
		return append(os.Environ(), settingsEnv+"="+string(body))
	})
	if s.Greeting.Confined = status; !errors.Is(err, errors.ErrUnsupported) {
		fmt.Fprintln(os.Stderr, err)
	}
	return s
}

package service

import (
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
)

// warnOfSecrets warns of secrets that other users of this machine, or anyone with a
// copy of the store, can read. The secrets of a demo protect only simulated data.
func (o *Options) warnOfSecrets(log *slog.Logger) {
	if !o.Authorization.Box.Encrypts() && !o.demo {
		log.Warn("the store holds the key that signs tokens and the secrets of webhooks without encryption: " +
			"set PREGON_SECRET_KEY to 32 characters or more, such as what " +
			"`openssl rand -base64 32` prints, and keep it apart from the store")
	}
	files := map[string]string{"--config": o.ConfigFile, "--store": o.Storage.Address.Path()}
	for _, flag := range slices.Sorted(maps.Keys(files)) {
		info, err := os.Stat(files[flag])
		// its modes do not cover other users
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			log.Warn("other users of this machine can read or write a file that holds secrets: run chmod go= on it",
				"setting", flag, "file", files[flag], "mode", info.Mode().Perm().String())
		}
	}
}

//go:build !linux

package main

// memoryTemp returns nothing: this system has no directory whose files are in memory.
func memoryTemp() (env []string, remove func()) { return nil, func() {} }

package main

func (b *bench) pocketbase() error { return nil }

func pocketbaseMain([]string) {}

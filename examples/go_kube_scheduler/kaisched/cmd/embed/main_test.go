package main

import (
	"io"
	"os"
	"testing"
)

// What the program prints is committed; to renew it after a deliberate change: go run ./cmd/embed > cmd/embed/expected.txt
func TestOutput(t *testing.T) {
	expected, err := os.ReadFile("expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	real := os.Stdout
	os.Stdout = writer
	err = run()
	os.Stdout = real
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	printed, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if string(printed) != string(expected) {
		t.Errorf("printed\n%s\nexpected\n%s", printed, expected)
	}
}

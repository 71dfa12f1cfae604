package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

const (
	accountKey = "accounts.key"
	tokens     = "tokens.csv"
)

// writeAccess writes who may do everything, how to be that, and the key that signs the tokens of service accounts. What
// an earlier start has written stays.
func writeAccess(folder, port string) error {
	if _, err := os.Stat(filepath.Join(folder, tokens)); err == nil {
		return nil
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return err
	}
	token := hex.EncodeToString(random)
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	for _, file := range []struct {
		name string
		text []byte
	}{
		{accountKey, pem.EncodeToMemory(block)},
		{"kubeconfig", []byte(kubeconfig(port, token))},
		{"token", []byte(token)},
		{tokens, []byte(token + ",tester,tester,system:masters\n")},
	} {
		if err := os.WriteFile(filepath.Join(folder, file.name), file.text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func kubeconfig(port, token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster:
    server: https://127.0.0.1:%s
    certificate-authority: certificates/apiserver.crt
users:
- name: tester
  user:
    token: %s
contexts:
- name: lab
  context: {cluster: lab, user: tester}
`, port, token)
}

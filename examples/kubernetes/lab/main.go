// Command lab is an API server of Kubernetes with its store, in one process and on loopback alone: what the tests of
// kaisched-kubernetes bind pods in. No kubelet, no controllers: a test plays them where it needs them.
//
//	lab FOLDER PORT
//
// FOLDER receives `kubeconfig`, and everything else that the server keeps.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: lab FOLDER PORT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(folder, port string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	store, err := startStore(folder)
	if err != nil {
		return err
	}
	key, err := writeAccountKey(folder)
	if err != nil {
		return err
	}
	tokens, err := writeAccess(folder, port)
	if err != nil {
		return err
	}
	server := apiserver.NewAPIServerCommand()
	server.SetArgs([]string{
		"--etcd-servers=" + store,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + port,
		"--cert-dir=" + filepath.Join(folder, "certificates"), // the server signs its own
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://lab.invalid",
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",            // loopback is no address of an endpoint
		"--disable-admission-plugins=ServiceAccount", // nobody makes the accounts of namespaces
		"--watch-cache=true",
	})
	return server.Execute()
}

// startStore runs one member of etcd. It listens on sockets that are named relative to the working folder.
func startStore(folder string) (string, error) {
	if err := os.Chdir(folder); err != nil {
		return "", err
	}
	client := url.URL{Scheme: "unix", Host: "store:1"}
	peer := url.URL{Scheme: "unix", Host: "store:2"}
	config := embed.NewConfig()
	config.Dir = filepath.Join(folder, "store.data")
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true
	config.LogLevel = "error"
	config.LogOutputs = []string{filepath.Join(folder, "store.log")}
	member, err := embed.StartEtcd(config)
	if err != nil {
		return "", err
	}
	select {
	case <-member.Server.ReadyNotify():
		return client.String(), nil
	case <-time.After(time.Minute):
		return "", errors.New("the store is not ready after a minute")
	}
}

func writeAccountKey(folder string) (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "accounts.key")
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return file, os.WriteFile(file, pem.EncodeToMemory(block), 0o600)
}

// writeAccess writes who may do everything, and how to be that.
func writeAccess(folder, port string) (string, error) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	token := hex.EncodeToString(random)
	kubeconfig := fmt.Sprintf(`apiVersion: v1
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
	if err := os.WriteFile(filepath.Join(folder, "kubeconfig"), []byte(kubeconfig), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "token"), []byte(token), 0o600); err != nil {
		return "", err
	}
	file := filepath.Join(folder, "tokens.csv")
	return file, os.WriteFile(file, []byte(token+",tester,tester,system:masters\n"), 0o600)
}

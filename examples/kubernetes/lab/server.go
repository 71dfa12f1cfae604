package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// up runs the store and the API server until the process ends.
func up(folder, port string, more []string) error {
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
	if err := writeAccess(folder, port); err != nil {
		return err
	}
	key := filepath.Join(folder, accountKey)
	server := apiserver.NewAPIServerCommand()
	server.SetArgs(append([]string{
		"--etcd-servers=" + store,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + port,
		"--cert-dir=" + filepath.Join(folder, "certificates"), // the server signs its own
		"--token-auth-file=" + filepath.Join(folder, tokens),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://lab.invalid",
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none", // loopback is no address of an endpoint
		// Not every lab has who makes the accounts of namespaces, and who takes the taint from nodes that are ready.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
	}, more...))
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
	config.UnsafeNoFsync = true // a process that is killed loses nothing by it
	config.LogLevel = "error"
	config.LogOutputs = []string{filepath.Join(folder, "store.log")}
	for _, left := range []string{"store:1", "store:2"} { // by a server that was killed
		if err := os.RemoveAll(filepath.Join(folder, left)); err != nil {
			return "", err
		}
	}
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

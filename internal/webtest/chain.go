package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/big"
	"slices"
	"strings"
	"time"
)

// needlessNames is the number of names in a needless certificate, which makes it as long as most.
const needlessNames = 40

// Needless returns a configuration for TLS servers that send, for every name, a certificate and
// size bytes of others that nobody needs, different ones for each name. No client trusts them.
func Needless(size int) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1 << 62), NotAfter: time.Now().Add(24 * time.Hour)}
	for i := range needlessNames {
		template.DNSNames = append(template.DNSNames, fmt.Sprintf("name%02d.example.org", i))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	serial := strings.Index(string(der), string(template.SerialNumber.Bytes()))
	return &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		name := fnv.New32a()
		_, _ = name.Write([]byte(hello.ServerName))
		chain := [][]byte{der}
		for i := range size / len(der) {
			one := slices.Clone(der)
			binary.BigEndian.PutUint32(one[serial+4:], name.Sum32()+uint32(i)) // nobody verifies it
			chain = append(chain, one)
		}
		return &tls.Certificate{Certificate: chain, PrivateKey: key}, nil
	}}, nil
}

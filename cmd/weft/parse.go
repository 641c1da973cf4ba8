package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/netip"
	"os"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/near"
)

// number reads a whole number not below least.
func number(least int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return 0, fmt.Errorf("expected a whole number, %d or more", least)
		}
		return n, nil
	}
}

// orNone reads a whole number and turns 0 into the -1 that the library takes for none.
func orNone(s string) (int, error) {
	n, err := number(0)(s)
	if n == 0 {
		n = -1
	}
	return n, err
}

// some reads text that is not empty.
func some(what string) func(string) (string, error) {
	return func(s string) (string, error) {
		if s == "" {
			return "", errors.New("expected " + what)
		}
		return s, nil
	}
}

// someJob reads the folder of a job: not the flag behind the one that was to have it.
func someJob(s string) (string, error) {
	if s == "--job" {
		return "", errors.New("a flag, expected the folder of a job in its place, such as example.org.weft")
	}
	if s == "" || strings.HasPrefix(s, "--") {
		return "", errors.New("expected the folder of a job, such as example.org.weft")
	}
	return s, nil
}

// postType reads a media type, such as application/json; charset=utf-8.
func postType(s string) (string, error) {
	if kind, _, err := mime.ParseMediaType(s); err != nil || !strings.Contains(kind, "/") {
		return "", errors.New("expected a media type such as application/json")
	}
	return s, nil
}

// anyText takes any text, the empty one included.
func anyText(s string) (string, error) { return s, nil }

// anyNumber reads a whole number from 0 to 2⁶⁴−1.
func anyNumber(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, errors.New("expected a whole number, 0 or more")
	}
	return n, nil
}

// rate reads a number above 0.
func rate(s string) (float64, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0) || math.IsInf(n, 0) {
		return 0, errors.New("expected a number above 0, such as 10 or 0.5")
	}
	return n, nil
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, errors.New("expected a time above 0, such as 500ms, 30s or 1h30m")
	}
	return d, nil
}

// age reads a time that may be days or weeks.
func age(s string) (time.Duration, error) {
	if s != "" {
		unit := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
		if n, err := strconv.ParseFloat(s[:len(s)-1], 64); unit > 0 && err == nil && n > 0 && n < 1e5 {
			return time.Duration(n * float64(unit)), nil
		}
	}
	if d, err := duration(s); err == nil {
		return d, nil
	}
	return 0, errors.New("expected a time above 0, such as 12h, 7d or 4w")
}

func durationOrZero(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errors.New("expected a time, such as 0s, 500ms or 2s")
	}
	return d, nil
}

// durationOrNone reads a time and turns 0 into the -1 that the library takes for none.
func durationOrNone(s string) (time.Duration, error) {
	d, err := durationOrZero(s)
	if d == 0 {
		d = -1
	}
	return d, err
}

// durationOrNever reads a time and turns never into the -1 that the library takes for that.
func durationOrNever(s string) (time.Duration, error) {
	if s == "never" {
		return -1, nil
	}
	d, err := duration(s)
	if err != nil {
		return 0, errors.New("expected a time above 0, such as 30m or 12h, or never")
	}
	return d, nil
}

// size reads a number of bytes.
func size(s string) (int, error) {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n >= math.MaxInt {
		return 0, errors.New("expected a size above 0, such as 512k, 16MiB or 1000")
	}
	return int(n), nil
}

// bytes64 is size, as an int64.
func bytes64(s string) (int64, error) {
	n, err := size(s)
	return int64(n), err
}

// expression reads a regular expression. The empty one, which matches everything, is an error.
func expression(s string) (*regexp.Regexp, error) {
	why := "empty"
	re, err := regexp.Compile(s)
	var e *syntax.Error
	switch {
	case errors.As(err, &e):
		why = e.Code.String()
	case s != "":
		return re, err
	}
	return nil, fmt.Errorf("%s, expected a regular expression such as '/docs/.*[.]html$'", why)
}

func headerField(s string) (httpclient.Field, error) {
	name, text, ok := strings.Cut(s, ":")
	f := httpclient.Field{Name: name, Value: strings.TrimSpace(text)}
	err := httpclient.Header{f}.Check()
	switch {
	case !ok:
		err = errors.New("expected 'NAME: VALUE', such as 'Accept-Language: en'")
	case err != nil:
		err = fmt.Errorf("%w, in 'NAME: VALUE', such as 'Accept-Language: en'", err)
	}
	return f, err
}

// userAgent reads a User-Agent. It must not be empty: robots.txt is matched by its name.
func userAgent(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", errors.New("expected a name, such as 'mybot/1.0 (+https://example.org/bot)'")
	}
	return s, httpclient.Header{{Name: "User-Agent", Value: s}}.Check()
}

// authorities reads a file of certificates in PEM.
func authorities(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w, expected a file of certificates in PEM", reason(err))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate found, expected a file of certificates in PEM")
	}
	return pool, nil
}

// nameServer reads an address; its port is 53 by default.
func nameServer(s string) (netip.AddrPort, error) {
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return netip.AddrPortFrom(addr, 53), nil
	}
	server, err := netip.ParseAddrPort(s)
	if err != nil || server.Port() == 0 {
		return server, errors.New(
			"expected the address of a name server, such as 192.0.2.53, 127.0.0.1:5353 or [::1]:53")
	}
	return server, nil
}

// oneOf reads one of a few words.
func oneOf[T ~string](words ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		names := make([]string, len(words))
		for i, w := range words {
			if string(w) == s {
				return w, nil
			}
			names[i] = string(w)
		}
		if meant := near.Word(strings.ToLower(s), names); meant != "" {
			return "", fmt.Errorf("expected one of %s: did you mean %s?", strings.Join(names, ", "), meant)
		}
		return "", fmt.Errorf("expected one of %s", strings.Join(names, ", "))
	}
}

// commaSeparated reads a list.
func commaSeparated(s string) (all []string, err error) {
	for one := range strings.SplitSeq(s, ",") {
		if one = strings.TrimSpace(one); one == "" {
			return nil, errors.New("expected a list such as 10.0.0.1,10.0.0.2,10.0.0.3")
		}
		all = append(all, one)
	}
	return all, nil
}

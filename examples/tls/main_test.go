package main

func Example() {
	main()
	// Output:
	// TLS 1.3, issued by O=Acme Co: 200 OK, 5 bytes
	// TLS 1.3, issued by O=Acme Co: 200 OK, 5 bytes
	// TLS 1.3, issued by O=Acme Co: 200 OK, 5 bytes
}

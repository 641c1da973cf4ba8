package main

func Example() {
	main()
	// Output:
	// baker.example: 2 fetched, 1 closed by robots.txt, 0 failed
	// miller.example: 2 fetched, 1 closed by robots.txt, 0 failed
	// smith.example: 2 fetched, 1 closed by robots.txt, 0 failed
	// the server had 9 requests, at least 20ms apart: true
}

package mcp

// live adds the tools for live pages.
func (t *tools) live() {
	add(t, fetches, "fetch", "Fetch a URL", "Request one URL and show the response: status, redirects, header fields, and the body, raw or in "+
		"another form. Private addresses are refused. To read a page, prefer the tool read.", t.fetch)
	add(t, fetches, "map", "List the URLs of a site", "List the URLs of a site without crawling it, from its sitemaps and the links of a page. "+
		"With search, list only those that have all the words in the URL or in the text of a link.", t.mapSite)
}

// either adds the tools for both live pages and pages of jobs.
func (t *tools) either() {
	how := reads
	if t.canFetch {
		how = fetches
	}
	if !t.canFetch && t.jobs == "" {
		return
	}
	add(t, how, "read", "Read a page", "Read the main content of a page as Markdown, without menus and adverts, with title, author and date. "+
		"With job, read the page as that crawl received it.", t.read)
	add(t, how, "extract", "Extract fields of pages", "Extract fields from a live page, or from all pages of a job, by CSS or XPath, or structured data. Returns lines of JSON.", t.extract)
}

// looking adds the tools for jobs.
func (t *tools) looking() {
	add(t, reads, "status", "Status of crawls", "Show the progress of a crawl: state, counts, statuses, errors. Without a job, list all jobs.", t.status)
	add(t, reads, "pages", "URLs of a crawl", "List the URLs of a job with their state and status, all or only those in a state or with a status.", t.pages)
	add(t, reads, "search", "Search a crawl", "Find the pages of a job that have all the words. There is no index: it reads the bodies one by one, "+
		"and says how many it has read.", t.search)
	add(t, reads, "check", "Check a crawl", "List the faults of links and pages of a job, such as broken links and redirects, the most important first.", t.check)
	add(t, reads, "why", "Why a URL was crawled or not", "Explain what has become of a URL in a job, decision by decision, and which pages link to it.", t.why)
}

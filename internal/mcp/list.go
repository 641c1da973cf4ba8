package mcp

// live adds the tools for live pages.
func (t *tools) live() {
	add(t, fetches, "fetch", "Fetch a URL", "Request one URL and show the response: status, redirects, header, and the body as it is, "+
		"or one of its other forms. Private addresses are refused. To read a page, the tool read is better.", t.fetch)
	add(t, fetches, "map", "List the URLs of a site", "List URLs of a site without a crawl: from its sitemaps and the links of a page. "+
		"With search, those that have all the words in their URL or link text.", t.mapSite)
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
	add(t, how, "read", "Read a page", "The main content of a page as Markdown, without menus and adverts, with title, author and date. "+
		"With job, the page as that crawl has received it.", t.read)
	add(t, how, "extract", "Extract fields of pages", "Find fields of a live page, or of all pages of a job, by CSS or XPath, or structured data; as lines of JSON.", t.extract)
}

// looking adds the tools for jobs.
func (t *tools) looking() {
	add(t, reads, "status", "Status of crawls", "Where a crawl stands: state, counts, statuses, errors. Without a job, list all jobs.", t.status)
	add(t, reads, "pages", "URLs of a crawl", "List URLs of a job with their status, by state or status.", t.pages)
	add(t, reads, "search", "Search a crawl", "Find pages of a job that have all the words. It reads the bodies one by one, without an index: "+
		"an answer says how many pages were looked at.", t.search)
	add(t, reads, "check", "Check a crawl", "List what is wrong with links and pages of a job: broken links, redirects and others, the most important first.", t.check)
	add(t, reads, "why", "Why a URL was crawled or not", "Explain what has become of a URL in a job, decision by decision, and which pages link to it.", t.why)
}

// What programs do with Firecrawl's client, at a server and a site.
import { Firecrawl } from "@mendable/firecrawl-js";
import assert from "node:assert/strict";

const [apiUrl, apiKey, site] = process.argv.slice(2);
const client = new Firecrawl({ apiUrl, apiKey });

const page = await client.scrape(site + "/docs/1", {
  formats: ["markdown", "html", "rawHtml", "links", {
    type: "json",
    schema: { type: "object", required: ["name"], properties: {
      name: { type: "string", selector: "h1" },
      next: { type: "array", items: { type: "string", format: "uri" }, selector: "a" },
    } },
  }],
  timeout: 20000, maxAge: 1000, headers: { "Accept-Language": "en" },
});
assert.equal(page.metadata.title, "Page 1");
assert.equal(page.metadata.statusCode, 200);
assert.equal(page.metadata.sourceURL, site + "/docs/1");
assert.match(page.markdown, /^# Page 1\n\nThe text of page 1\./);
assert.match(page.html, /<p>The text of page 1.<\/p>/);
assert.match(page.rawHtml, /<nav>/);
assert.ok(page.links.includes(site + "/docs/2"));
assert.equal(page.json.name, "Page 1");
assert.ok(page.json.next.includes(site + "/docs/2"));
assert.match((await client.scrape(site + "/docs/1", { onlyMainContent: false })).markdown, /Menu/);
assert.equal((await client.scrape(site + "/none")).metadata.statusCode, 404);

const refused = (promise, message) => assert.rejects(promise, (e) => {
  assert.match(e.message, message);
  assert.ok(e.status >= 400 && e.status < 500, String(e.status));
  return true;
});
await refused(client.scrape(site, { formats: ["summary"] }), /summary is not supported/);
await refused(client.scrape(site, { formats: [{ type: "json", prompt: "the price" }] }), /prompt is not supported/);
await refused(client.scrape(site, { formats: ["screenshot"] }), /rendering is not supported/);
await refused(client.scrape(site, { actions: [{ type: "wait", milliseconds: 1 }] }), /actions is not supported/);
await refused(client.search("kettles"), /search is not supported/);
await refused(client.startCrawl(site, { webhook: { url: "https://example.org/", events: ["monitor"] } }), /events: monitor is not supported/);
await refused(client.startCrawl(site, { prompt: "all of it" }), /prompt is not supported/);
await refused(client.getCrawlStatus("none"), /no such crawl/);

const map = await client.map(site + "/docs/", { limit: 50, sitemap: "include" });
assert.ok(map.links.some((l) => l.url === site + "/docs/1"));
assert.ok(map.links.some((l) => l.url === site + "/docs/listed"), JSON.stringify(map));

// More pages than an answer has.
const crawl = await client.crawl(site + "/docs/", {
  limit: 500, excludePaths: ["^/docs/5$"], sitemap: "skip", pollInterval: 1, maxConcurrency: 8,
  scrapeOptions: { formats: ["markdown", "links"] },
});
assert.equal(crawl.status, "completed");
const urls = crawl.data.map((d) => d.metadata.sourceURL);
assert.equal(new Set(urls).size, urls.length);
for (let i = 1; i <= 140; i++) {
  assert.equal(urls.includes(`${site}/docs/${i}`), i !== 5, String(i));
}
assert.ok(!urls.some((u) => u.includes("/other")), "beyond the folder");
const found = crawl.data.filter((d) => d.metadata.statusCode === 200);
assert.ok(found.every((d) => d.markdown?.length > 0 && d.links.length > 0));
assert.ok(crawl.completed >= 140 && crawl.total >= crawl.completed, JSON.stringify([crawl.completed, crawl.total]));
const first = await client.getCrawlStatus(crawl.id, { autoPaginate: false });
assert.equal(first.data.length, 100);
assert.ok(first.next.startsWith(apiUrl));
const errors = await client.getCrawlErrors(crawl.id);
assert.deepEqual(errors.errors.map((e) => e.url), [site + "/docs/broken"]);
assert.deepEqual(errors.robotsBlocked, [site + "/docs/private"]);
await refused(client.cancelCrawl(crawl.id), /has ended/);

const batch = await client.batchScrape([site + "/docs/1", site + "/docs/2", "http://", site + "/docs/broken"], {
  options: { formats: ["html"], onlyMainContent: true }, pollInterval: 1, idempotencyKey: "k",
});
assert.equal(batch.status, "completed");
assert.deepEqual(batch.data.map((d) => d.metadata.title).sort(), ["Page 1", "Page 2"]);
assert.ok(batch.data.every((d) => d.html.includes("<p>The text") && d.markdown === undefined));
assert.equal((await client.getBatchScrapeErrors(batch.id)).errors.length, 1);
const started = await client.startBatchScrape([site + "/docs/1", "http://"], { idempotencyKey: "k2" });
assert.deepEqual(started.invalidURLs, ["http://"]);
assert.equal((await client.startBatchScrape([site + "/docs/1", "http://"], { idempotencyKey: "k2" })).id, started.id);

const slow = await client.startCrawl(site + "/docs/", { delay: 30, crawlEntireDomain: true });
assert.ok((await client.getActiveCrawls()).crawls.some((c) => c.id === slow.id && c.url === site + "/docs/"));
assert.equal((await client.getCrawlStatus(slow.id)).status, "scraping");
assert.equal(await client.cancelCrawl(slow.id), true);
assert.equal((await client.getCrawlStatus(slow.id)).status, "cancelled");
assert.equal(await client.cancelCrawl(slow.id), true);
console.log("done");

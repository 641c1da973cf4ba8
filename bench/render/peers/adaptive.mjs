// Crawls a site with Crawlee's AdaptivePlaywrightCrawler, which renders the pages that it expects
// to need it. What its handler does may be done twice, so that it writes by pushData alone.
import { AdaptivePlaywrightCrawler, Configuration } from "crawlee"
import { args, executablePath, start, tabs, write } from "./page.mjs"

const crawler = new AdaptivePlaywrightCrawler({
  renderingTypeDetectionRatio: 0.1,
  launchContext: { launchOptions: { executablePath, args, headless: true } },
  minConcurrency: tabs,
  maxConcurrency: tabs,
  async requestHandler({ request, querySelector, parseWithCheerio, enqueueLinks, pushData }) {
    await querySelector("a[href]")
    const $ = await parseWithCheerio()
    const links = $("a[href]").map((_, a) => new URL($(a).attr("href"), request.url).href).get()
    await pushData({ url: request.url, title: $("title").text(), text: $("body").text(), links })
    await enqueueLinks({ strategy: "same-hostname" })
  },
}, new Configuration({ persistStorage: false }))
await crawler.run([start])
for (const { url, ...page } of (await crawler.getData()).items) write(url, page)

// Crawls a site with Crawlee's PlaywrightCrawler.
import { Configuration, PlaywrightCrawler } from "crawlee"
import { args, executablePath, read, start, tabs, write } from "./page.mjs"

const crawler = new PlaywrightCrawler({
  launchContext: { launchOptions: { executablePath, args, headless: true } },
  minConcurrency: tabs,
  maxConcurrency: tabs,
  async requestHandler({ page, request, enqueueLinks }) {
    await page.waitForLoadState("networkidle")
    write(request.url, await page.evaluate(read))
    await enqueueLinks({ strategy: "same-hostname" })
  },
}, new Configuration({ persistStorage: false }))
await crawler.run([start])

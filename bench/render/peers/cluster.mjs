// Crawls a site with puppeteer-cluster: a tab for each page, of one browser, which its docs call
// the fastest of its ways.
import { Cluster } from "puppeteer-cluster"
import { args, executablePath, known, read, start, tabs, write } from "./page.mjs"

const cluster = await Cluster.launch({
  concurrency: Cluster.CONCURRENCY_PAGE,
  maxConcurrency: tabs,
  puppeteerOptions: { executablePath, args, headless: true },
  retryLimit: 1,
})
const seen = new Set()
const enqueue = (link) => {
  const url = known(link)
  if (!url || seen.has(url)) return
  seen.add(url)
  cluster.queue(url)
}
await cluster.task(async ({ page, data: url }) => {
  await page.goto(url, { waitUntil: "networkidle0" })
  const found = await page.evaluate(read)
  write(url, found)
  found.links.forEach(enqueue)
})
cluster.on("taskerror", (err, url) => console.error(`${url}: ${err.message}`))
enqueue(start)
await cluster.idle()
await cluster.close()

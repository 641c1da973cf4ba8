// Crawls a site with Crawlee's CheerioCrawler, and writes each page as Markdown by Turndown:
// crawl.mjs URL DIR.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { CheerioCrawler, Configuration, log } from "@crawlee/cheerio"
import TurndownService from "turndown"
import { gfm } from "turndown-plugin-gfm"

const [start, dir] = process.argv.slice(2)
const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" })
turndown.use(gfm)
let pages = 0
log.setLevel(log.LEVELS.OFF)
const crawler = new CheerioCrawler({
  minConcurrency: 16,
  maxConcurrency: 64,
  maxRequestRetries: 1,
  async requestHandler({ $, request, enqueueLinks }) {
    await enqueueLinks({ strategy: "same-hostname" })
    $("script, style, nav, header, footer").remove()
    writeFileSync(join(dir, `${pages++}.md`), turndown.turndown($("body").html() ?? ""))
  },
}, new Configuration({ persistStorage: false }))
await crawler.run([start])

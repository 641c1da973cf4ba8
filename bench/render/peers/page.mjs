import { appendFileSync } from "node:fs"

export const [start, out, executablePath] = process.argv.slice(2)

// As root, Chromium needs to be told that it has no sandbox.
export const args = process.getuid() === 0 ? ["--no-sandbox"] : []

// How many pages are open at a time.
export const tabs = 4

// What is taken from a page. It runs in the page.
export const read = () => ({
  title: document.title,
  text: document.body.innerText,
  links: [...document.querySelectorAll("a[href]")].map((a) => a.href),
})

export const write = (url, page) => appendFileSync(out, JSON.stringify({ url, ...page }) + "\n")

// The URL by which a page is known, or nothing if it is of another site.
export function known(link) {
  const url = new URL(link)
  url.hash = ""
  return url.host === new URL(start).host ? url.href : undefined
}

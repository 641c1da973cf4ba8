// Compares Weft's archives with what warcio.js and ReplayWeb.page make of them: see script/interop.
import { execFileSync, spawn } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import puppeteer from "puppeteer-core";
import { WARCParser } from "warcio";

const pages = 10;
const types = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript" };

// site is what is archived: pages that link to each other, with a style sheet.
function site(req, res) {
  const n = Number(/^\/(\d+)$/.exec(req.url)?.[1] ?? 0);
  if (req.url === "/style.css") {
    res.writeHead(200, { "Content-Type": types[".css"] });
    return res.end("h1 { color: rgb(1, 2, 3) }");
  }
  if (req.url !== "/" && !(n > 0 && n < pages)) {
    res.writeHead(404);
    return res.end();
  }
  res.writeHead(200, { "Content-Type": types[".html"] });
  res.end(`<!doctype html><title>Page ${n}</title><link rel=stylesheet href=/style.css>
<h1>Heading ${n} äöü</h1><p>Text of page ${n}. <a href=/${(n + 1) % pages}>next</a></p>`);
}

// files serves ReplayWeb.page and the package, by ranges.
function files(req, res) {
  const name = new URL(req.url, "http://x").pathname;
  const file = name === "/site.wacz" ? "site.wacz" : path.join("package", path.normalize(name === "/" ? "/index.html" : name));
  if (!fs.existsSync(file)) {
    res.writeHead(404);
    return res.end();
  }
  const size = fs.statSync(file).size;
  const header = { "Content-Type": types[path.extname(file)] ?? "application/octet-stream", "Accept-Ranges": "bytes" };
  const range = /^bytes=(\d*)-(\d*)$/.exec(req.headers.range ?? "");
  let [start, end] = [0, size - 1];
  if (range) {
    start = range[1] === "" ? Math.max(0, size - Number(range[2])) : Number(range[1]);
    end = range[1] !== "" && range[2] !== "" ? Math.min(Number(range[2]), end) : end;
    header["Content-Range"] = `bytes ${start}-${end}/${size}`;
  }
  res.writeHead(range ? 206 : 200, { ...header, "Content-Length": end - start + 1 });
  return req.method === "HEAD" ? res.end() : fs.createReadStream(file, { start, end }).pipe(res);
}

async function serve(handler) {
  const server = http.createServer(handler);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => (server.closeAllConnections(), server.close()) };
}

function expect(what, got, want) {
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    console.log(`${what}:\n${JSON.stringify(got)}, expected\n${JSON.stringify(want)}`);
    process.exit(1);
  }
  console.log(`${what}: equal`);
}

const digest = (body) => crypto.createHash("sha256").update(body).digest("hex");
const shown = () => ({
  text: document.body.innerText.trim(),
  title: document.title,
  color: getComputedStyle(document.querySelector("h1")).color,
});

// replayed returns what ReplayWeb.page shows of a page, in the innermost of its frames.
async function replayed(tab, viewer, url) {
  await tab.goto("about:blank");
  await tab.goto(`${viewer}/?source=/site.wacz#view=resource&url=${encodeURIComponent(url)}`);
  for (const start = Date.now(); Date.now() - start < 20_000; ) {
    for (const frame of tab.frames()) {
      if (frame.url().endsWith(`mp_/${url}`)) {
        const ready = await frame.evaluate(() => document.readyState === "complete" && document.querySelector("h1") !== null).catch(() => false);
        if (ready) return await frame.evaluate(shown);
      }
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return null;
}

const weft = (...args) => execFileSync("./weft", args, { encoding: "utf8" });
const origin = await serve(site);
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const tab = await browser.newPage();
const urls = [...Array(pages).keys()].map((n) => `${origin.url}/${n || ""}`);
const live = [];
for (const url of urls) {
  await tab.goto(url);
  live.push(await tab.evaluate(shown));
}
await new Promise((done) => spawn("./weft", ["crawl", "-q", "--warc", "--job", "job", origin.url], { stdio: "inherit" }).on("exit", done));
origin.close();

const extracted = [];
const warcs = fs.readdirSync("job/archive").filter((name) => name.endsWith(".warc.gz")).map((name) => `internal/job/archive/${name}`);
for (const line of weft("warc", "extract", ...warcs, "-o", "bodies").trim().split("\n")) {
  const [file, url] = line.split("\t");
  extracted.push(`${url} ${digest(fs.readFileSync(path.join("bodies", file)))}`);
}
const read = [];
for (const name of warcs) {
  for await (const record of new WARCParser(fs.createReadStream(name))) {
    const body = await record.readFully(true);
    if (record.warcType === "response" && record.httpHeaders.statusCode === 200) read.push(`${record.warcTargetURI} ${digest(body)}`);
  }
}
expect(`${read.length} bodies of warcio.js and weft warc extract`, extracted.sort(), read.sort());

weft("wacz", "job", "-o", "site.wacz");
console.log(weft("wacz", "check", "site.wacz").trim());
const viewer = await serve(files);
const archived = [];
for (const url of urls) archived.push(await replayed(tab, viewer.url, url));
expect(`${archived.length} pages in ReplayWeb.page and live`, archived, live);
await browser.close();
viewer.close();

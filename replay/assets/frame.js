"use strict"
// An archived page says what it is when it is loaded (page.js). It may lie, so this only shows text.
const root = new URL("..", document.currentScript.src).pathname
const element = id => document.getElementById(id)
addEventListener("message", event => {
  const { date, url, title } = Object(event.data)
  if (event.source !== element("page").contentWindow || !/^\d{14}$/.test(date) || !/^https?:\/\/[^\s]+$/.test(url)) return
  const [, y, m, d, ...time] = date.match(/(....)(..)(..)(..)(..)(..)/)
  const month = new Date(Date.UTC(y, m - 1, d)).toLocaleString("en", { month: "long", timeZone: "UTC" })
  element("date").textContent = `${+d} ${month} ${y} ${time.join(":")} UTC`
  element("url").value = url
  element("all").setAttribute("href", root + "*/" + url)
  document.title = String(title).slice(0, 200) || url
  history.replaceState(null, "", root + date + "/" + url)
})

"use strict"
{
  // Tells the banner which page its frame shows. Nothing of it stays in the page,
  // and no site that frames it hears of it.
  const script = document.currentScript, date = script.dataset.date, url = location.href.replace(/^.*?mp_\//, "")
  script.remove()
  if (parent === top && parent !== self)
    addEventListener("DOMContentLoaded", () => parent.postMessage({ date, url, title: document.title }, location.origin))
}

// The number of the page that a path is of.
export const numberOf = (path) => Number(path.match(/^\/p\/(\d+)$/)?.[1] ?? 0)

// The content of a page.
export async function load(number) {
  const response = await fetch(`/api/pages/${number}`)
  if (!response.ok) throw new Error(`page ${number}: ${response.status}`)
  return response.json()
}

// Follows a link without loading a document, as routers do.
export function follow(event, to, show) {
  if (event.metaKey || event.ctrlKey || event.button !== 0) return
  event.preventDefault()
  history.pushState(null, "", to)
  show(numberOf(to))
}

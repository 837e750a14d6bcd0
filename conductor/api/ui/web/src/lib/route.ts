// Which page an address is.

export interface Route {
  page: string
  rest: string[]
  query: URLSearchParams
}

const root = '/ui/'

/** parseRoute reads an address below /ui/. */
export function parseRoute(pathname: string, search: string): Route {
  const parts = pathname.slice(root.length).split('/').filter(Boolean).map(decode)
  return { page: parts[0] ?? '', rest: parts.slice(1), query: new URLSearchParams(search) }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** address is that of a page. */
export function address(parts: string[], query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : ''
  return root + parts.map(encodeURIComponent).join('/') + search
}

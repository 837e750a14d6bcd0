// The terminal writes its styles into <style> elements, which the policy of the page forbids. Sheets that a script makes
// are allowed: while the terminal is opened, its elements write into such sheets.

/** withSheets calls open, and moves the text of each <style> element made in it, now or later, into a sheet of the page. */
export function withSheets<T>(open: () => T): T {
  const create = document.createElement.bind(document)
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const element = create(name, options)
    if (name.toLowerCase() === 'style') asSheet(element)
    return element
  }) as typeof document.createElement
  try {
    return open()
  } finally {
    document.createElement = create
  }
}

function asSheet(element: HTMLElement): void {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  let text = ''
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set: (value: string) => {
      text = value
      sheet.replaceSync(value)
    },
  })
  const remove = element.remove.bind(element)
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet)
    remove()
  }
}

// The terminal writes its styles into <style> elements, which the policy of the page forbids. Sheets that a script makes
// are allowed: while the terminal is opened, it is given elements that write into such sheets.

/** withSheets calls open, and puts sheets of the page in the place of the <style> elements that are made meanwhile. */
export function withSheets<T>(open: () => T): T {
  const create = document.createElement.bind(document)
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name.toLowerCase() === 'style' ? sheetElement(create('span')) : create(name, options)) as typeof document.createElement
  try {
    return open()
  } finally {
    document.createElement = create
  }
}

/** sheetElement makes an element of a hidden one: its text is that of a sheet, which goes with it. */
function sheetElement(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  let text = ''
  element.hidden = true
  Object.defineProperty(element, 'sheet', { value: sheet })
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
  return element
}

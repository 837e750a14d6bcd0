// Names of images that are uploaded, and how long an upload takes.

/** nameOf is the name of an image, out of that of its file. */
export function nameOf(file: string): string {
  const base = file.replace(/\.(gz|xz|zst|bz2)$/i, '').replace(/\.(qcow2|raw|img|iso)$/i, '')
  return base.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
}

/** nameError is why an image cannot be called so; '' for a name that it can have. */
export const nameError = (name: string): string =>
  name === '' || /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/.test(name) ? '' : 'Letters, digits, dots, dashes, underscores and tildes alone, at most 128.'

/** takenNames are the names that a new image of a project cannot have: its own, and those of all. '' is the images of all. */
export const takenNames = (images: { name: string; owner?: string }[], project: string): string[] =>
  images.filter((i) => !i.owner || i.owner === project).map((i) => i.name)

/** speed is the bytes a second of an upload, and the seconds that it will take from now on; nothing is said of the first second. */
export function speed(done: number, total: number, seconds: number): { rate: number; left: number } {
  if (seconds < 1 || done === 0) return { rate: 0, left: 0 }
  const rate = done / seconds
  return { rate, left: (total - done) / rate }
}

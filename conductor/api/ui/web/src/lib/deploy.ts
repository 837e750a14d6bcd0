// The image of a deploy, as changes of instance_info.
import type { Change } from '../api/machine'

export interface Image {
  /** url is a URL, or the name of an image that the conductor keeps. */
  url: string
  checksum: string
  format: string
}

const lengths: Record<number, string> = { 32: 'md5', 40: 'sha1', 64: 'sha256', 96: 'sha384', 128: 'sha512' }

/** checksumError is why a checksum cannot be one; '' for none. */
export function checksumError(text: string): string {
  if (text === '' || text.includes('://')) return ''
  const [named, sum] = split(text)
  const found = lengths[sum.length]
  if (!/^[0-9a-f]+$/i.test(sum) || !found) return 'Expected hex of sha256 (64 characters) or sha512 (128), or the URL of a file of checksums.'
  if (named !== '' && named !== found) return `A sum of ${sum.length} characters is ${found}, not ${named}.`
  return ''
}

function split(text: string): [string, string] {
  const colon = text.indexOf(':')
  return colon < 0 ? ['', text] : [text.slice(0, colon).toLowerCase(), text.slice(colon + 1)]
}

/** source is the image as instance_info has it: image:NAME for a name. */
const source = (typed: string): string => (typed.includes(':') ? typed : `image:${typed}`)

/** imageOf is the image that a node has already, as it is typed. */
export function imageOf(info: Record<string, unknown> | null | undefined): Image {
  const text = (key: string) => (typeof info?.[key] === 'string' ? (info[key] as string) : '')
  return {
    url: text('image_source').replace(/^image:/, ''),
    checksum: text('image_os_hash_value') || text('image_checksum'),
    format: ['raw', 'qcow2'].includes(text('image_disk_format')) ? text('image_disk_format') : '',
  }
}

/** imageChanges replace the image of a node, with all that was said of the old one. */
export function imageChanges(image: Image): Change[] {
  if (image.url === '') return []
  const info: Record<string, string | null> = {
    image_source: source(image.url), image_mirrors: null, image_checksum: null, image_os_hash_algo: null, image_os_hash_value: null,
  }
  if (image.checksum !== '') {
    const [, sum] = split(image.checksum)
    const algo = image.checksum.includes('://') ? '' : lengths[sum.length]
    if (!algo || algo === 'md5') info['image_checksum'] = algo ? sum : image.checksum
    else {
      info['image_os_hash_algo'] = algo
      info['image_os_hash_value'] = sum
    }
  }
  if (image.format !== '') info['image_disk_format'] = image.format
  return Object.entries(info).flatMap(([key, value]): Change[] => {
    const path = `/instance_info/${key}`
    if (value !== null) return [{ op: 'add', path, value }]
    // "add" before "remove": the key may not be there
    return [{ op: 'add', path, value: '' }, { op: 'remove', path }]
  })
}

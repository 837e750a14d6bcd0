// Server-sent events, out of the pieces in which they arrive.

export interface Message {
  id: string
  type: string
  data: string
}

/** Decoder puts pieces of a stream together. */
export class Decoder {
  private rest = ''

  /** push takes a piece, and returns the messages that are whole with it. */
  push(piece: string): Message[] {
    this.rest += piece
    const found: Message[] = []
    for (;;) {
      const end = this.rest.indexOf('\n\n')
      if (end < 0) return found
      const message = read(this.rest.slice(0, end))
      this.rest = this.rest.slice(end + 2)
      if (message) found.push(message)
    }
  }
}

function read(block: string): Message | null {
  const message: Message = { id: '', type: 'message', data: '' }
  let data = false
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon === 0) continue // a comment: the stream lives
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'id') message.id = value
    if (name === 'event') message.type = value
    if (name === 'data') {
      message.data += (data ? '\n' : '') + value
      data = true
    }
  }
  return data ? message : null
}

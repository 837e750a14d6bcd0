// State that several parts of a page look at.

/** Store holds a state, and tells whoever looks at it of changes. */
export class Store<T extends object> {
  private readonly listeners = new Set<() => void>()

  constructor(private state: T) {}

  readonly get = (): T => this.state

  readonly set = (change: Partial<T>): void => {
    this.state = { ...this.state, ...change }
    for (const tell of this.listeners) tell()
  }

  readonly subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell)
    return () => this.listeners.delete(tell)
  }
}

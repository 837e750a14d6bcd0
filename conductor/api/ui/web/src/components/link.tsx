import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { go } from '../hooks/use-route'

/** Link is a link to a page of the interface, opened without loading it anew. */
export function Link({ to, onClick, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  const open = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    go(to)
  }
  return <a {...rest} href={to} onClick={open} />
}

import { useEffect, useState } from 'react'

/** Command is a command to run in a shell, with a button that copies it as it is. */
export function Command({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), 2000)
    return () => clearTimeout(timer)
  }, [said])
  // without https the browser has no clipboard: the text is selected then, for the keys of copying
  const copy = (event: React.MouseEvent<HTMLButtonElement>) => {
    const code = event.currentTarget.parentElement?.querySelector('pre')
    const select = () => {
      if (code) getSelection()?.selectAllChildren(code)
      setSaid('Selected: press Ctrl+C')
    }
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => setSaid('Copied'), select)
    else select()
  }
  return (
    <div className="command">
      <pre tabIndex={0} aria-label={label}>{text}</pre>
      <button type="button" onClick={copy} aria-label={`Copy: ${label}`}>
        {said || 'Copy'}
      </button>
      <span className="visually-hidden" role="status">{said}</span>
    </div>
  )
}

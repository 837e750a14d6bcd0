import { visible } from '../lib/format'
import { address } from '../lib/route'
import { adviceParts } from '../lib/verbs'
import { Link } from './link'

/** Advice is the next step for a machine, in the words of this interface. */
export const Advice = ({ text, machine }: { text: string; machine: string }) =>
  adviceParts(text).map((part, i) =>
    part.log ? (
      <Link key={i} to={address(['machines', machine], { tab: 'log' })}>
        {part.text}
      </Link>
    ) : (
      <span key={i}>{visible(part.text)}</span>
    ),
  )

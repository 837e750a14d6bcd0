/** Logo is the icon of the page, in the colours of the theme. */
export const Logo = () => (
  <svg className="logo" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="6" />
    <path d="M7 7h18v4H7zM7 14h13v4H7zM7 21h4v4H7z" />
  </svg>
)

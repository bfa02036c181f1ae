import type { ReactNode } from 'react';

const SHAPES = {
  search: (
    <>
      <circle cx="11" cy="11" r="6.5" />
      <path d="m16 16 4.5 4.5" />
    </>
  ),
  menu: <path d="M4 7h16M4 12h16M4 17h16" />,
  close: <path d="m6 6 12 12M18 6 6 18" />,
  sun: (
    <>
      <circle cx="12" cy="12" r="4" />
      <path d="M12 2.5v2.5M12 19v2.5M2.5 12H5M19 12h2.5M5.3 5.3 7 7M17 17l1.7 1.7M18.7 5.3 17 7M7 17l-1.7 1.7" />
    </>
  ),
  moon: <path d="M20 14.5A8.2 8.2 0 0 1 9.5 4 8.2 8.2 0 1 0 20 14.5Z" />,
  device: (
    <>
      <rect x="3.5" y="4.5" width="17" height="11.5" rx="1.5" />
      <path d="M9 20h6M12 16v4" />
    </>
  ),
  exit: <path d="M14 4.5H6.5a1 1 0 0 0-1 1v13a1 1 0 0 0 1 1H14M10.5 12H21m0 0-3.5-3.5M21 12l-3.5 3.5" />,
  plus: <path d="M12 5v14M5 12h14" />,
  trash: <path d="M4.5 7h15M9.5 7V4.5h5V7M6.5 7l.8 12.5h9.4L17.5 7M10 10.5v6M14 10.5v6" />,
  copy: (
    <>
      <rect x="8.5" y="8.5" width="11" height="11" rx="2" />
      <path d="M15.5 8.5v-2a2 2 0 0 0-2-2h-7a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h2" />
    </>
  ),
  open: <path d="M8 16 16.5 7.5M9.5 7h7.5v7.5" />,
  chevron: <path d="m9.5 6 6 6-6 6" />,
  down: <path d="m6 9.5 6 6 6-6" />,
  check: <path d="m5 12.5 4.5 4.5L19 7.5" />,
  clock: (
    <>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M12 7.5V12l3 2" />
    </>
  ),
  table: (
    <>
      <rect x="4" y="5" width="16" height="14" rx="2" />
      <path d="M4 10h16M10 10v9" />
    </>
  ),
  pencil: <path d="m5 19 .8-3.600L16.2 5l2.8 2.800L8.6 18.200Z" />,
  upload: <path d="M12 16V5m0 0L7.5 9.5M12 5l4.5 4.5M5 19.5h14" />,
  file: <path d="M7 3.5h6.5L18 8v12.5H7ZM13.5 3.5V8H18" />,
  warning: <path d="M12 4 2.8 19.5h18.400ZM12 10v4.5M12 17v.2" />,
  calendar: (
    <>
      <rect x="4" y="5.5" width="16" height="14" rx="2" />
      <path d="M4 10h16M8.5 3.5v4M15.5 3.5v4" />
    </>
  ),
  link: <path d="M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.300l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.700l1-1" />,
  columns: <path d="M4 5.5h16v13H4ZM9.500 5.500v13M15 5.500v13" />,
  sort: <path d="M8 5v14m0 0-3-3m3 3 3-3M16 19V5m0 0-3 3m3-3 3 3" />,
  filter: <path d="M4 6h16M7.500 12h9M10.500 18h3" />,
  views: <path d="M4.500 6h15M4.500 10.500h15M4.500 15h9M4.500 19h6" />,
  undo: <path d="M8.500 5 4.500 9l4 4M5 9h9a5 5 0 0 1 0 10h-3" />,
  refresh: <path d="M19 12a7 7 0 1 1-2-4.900M19 4v4h-4" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof SHAPES;

/** Icons that point in the reading direction; they are mirrored in Hebrew. */
const DIRECTED = new Set<IconName>(['exit', 'open', 'chevron']);

/** A decorative picture: the control that contains it has a name. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      className={DIRECTED.has(name) ? 'icon icon-directed' : 'icon'}
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {SHAPES[name]}
    </svg>
  );
}

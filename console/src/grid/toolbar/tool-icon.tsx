const SHAPES = {
  columns: 'M4 5.5h16v13H4ZM9.500 5.500v13M15 5.500v13',
  sort: 'M8 5v14m0 0-3-3m3 3 3-3M16 19V5m0 0-3 3m3-3 3 3',
  filter: 'M4 6h16M7.500 12h9M10.500 18h3',
  views: 'M4.500 6h15M4.500 10.500h15M4.500 15h9M4.500 19h6',
  undo: 'M8.500 5 4.500 9l4 4M5 9h9a5 5 0 0 1 0 10h-3',
  refresh: 'M19 12a7 7 0 1 1-2-4.900M19 4v4h-4',
};

/** Pictures of the tools of a grid; the control that holds one has a name. */
export function ToolIcon({ name, size = 16 }: { name: keyof typeof SHAPES; size?: number }) {
  return (
    <svg
      className="icon"
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
      <path d={SHAPES[name]} />
    </svg>
  );
}

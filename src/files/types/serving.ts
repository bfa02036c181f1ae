/** How a file is sent to browsers. */
export interface Serving {
  /** As it stands in the header. */
  readonly contentType: string;
  /** Whether a browser shows it; else it is saved. */
  readonly disposition: 'inline' | 'attachment';
  /** `undefined` where there is none: viewers of PDF do not work in a sandbox. */
  readonly contentSecurityPolicy: string | undefined;
}

const shown = /^(?:image|audio|video)\//;
const shownTypes = new Set(['application/pdf', 'text/plain']);
/** Nothing runs, nothing is fetched; a picture in SVG keeps its looks. */
const sandbox = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; sandbox";

/** How files of a content type are sent (docs/decisions.md "Files"). @param contentType as `detectType` told it */
export function serving(contentType: string): Serving {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isActive = type.endsWith('+xml') || type.endsWith('/xml') || type === 'text/html';
  const isShown = !isActive && (shown.test(type) || shownTypes.has(type));
  return {
    contentType,
    disposition: isShown ? 'inline' : 'attachment',
    contentSecurityPolicy: isShown && !type.startsWith('text/') ? undefined : sandbox,
  };
}

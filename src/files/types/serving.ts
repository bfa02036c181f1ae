/** How a file is sent to browsers. */
export interface Serving {
  /** Value of the header. */
  readonly contentType: string;
  /** Whether a browser displays the file or saves it. */
  readonly disposition: 'inline' | 'attachment';
  /** `undefined` for none: viewers of PDF do not work in a sandbox. */
  readonly contentSecurityPolicy: string | undefined;
}

const displayedMedia = /^(?:image|audio|video)\//;
const displayedTypes = new Set(['application/pdf', 'text/plain']);
/** Forbids scripts and requests; SVG images keep their styles. */
const sandbox = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; sandbox";

/** Returns how files of a content type are served (files.md#serving). @param contentType as returned by `detectType` */
export function serving(contentType: string): Serving {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isActive = type.endsWith('+xml') || type.endsWith('/xml') || type === 'text/html';
  const isDisplayed = !isActive && (displayedMedia.test(type) || displayedTypes.has(type));
  return {
    contentType,
    disposition: isDisplayed ? 'inline' : 'attachment',
    contentSecurityPolicy: isDisplayed && !type.startsWith('text/') ? undefined : sandbox,
  };
}

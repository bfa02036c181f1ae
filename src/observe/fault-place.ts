import { relative } from 'node:path';
import type { About } from './conditions.ts';

const sources = new URL('../', import.meta.url).pathname;
/** Deeper than frames of packages usually go. */
const MAX_FRAMES = 20;

/**
 * What tells one fault of ours from another: the error's class, its code, and where it was thrown. Of those there are as many as the sources
 * have, whatever clients send.
 */
export function faultPlace(error: unknown): About {
  if (!(error instanceof Error)) return { fault: typeof error };
  const { code } = error as { readonly code?: unknown };
  return { fault: error.name, ...(typeof code === 'string' && { code }), at: placeOf(error.stack ?? '') };
}

/** The first place of the sources; the first of all where there is none of them. */
function placeOf(stack: string): string | undefined {
  const frames = stack.split('\n', MAX_FRAMES).flatMap((line) => {
    const place = /^\s+at .*?\(?((?:file:\/\/|node:|\/)[^()\s]+):\d+\)?$/.exec(line)?.[1];
    return place === undefined ? [] : [place.replace(/^file:\/\//, '')];
  });
  const place = frames.find((frame) => frame.startsWith(sources)) ?? frames[0];
  return place?.startsWith(sources) ? relative(sources, place) : place;
}

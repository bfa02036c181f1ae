import { relative } from 'node:path';
import type { About } from './conditions.ts';

const sources = new URL('../', import.meta.url).pathname;
/** Deeper than the frames of packages usually go. */
const MAX_FRAMES = 20;

/**
 * Returns what distinguishes faults of the service: the error's class, its code, and where it was thrown. Their number is bounded by the sources,
 * whatever clients send.
 */
export function faultPlace(error: unknown): About {
  if (!(error instanceof Error)) return { fault: typeof error };
  const { code } = error as { readonly code?: unknown };
  return { fault: error.name, ...(typeof code === 'string' && { code }), at: placeOf(error.stack ?? '') };
}

/** Returns the first frame in the sources; if there is none, the first frame. */
function placeOf(stack: string): string | undefined {
  const frames = stack.split('\n', MAX_FRAMES).flatMap((line) => {
    const place = /^\s+at .*?\(?((?:file:\/\/|node:|\/)[^()\s]+):\d+\)?$/.exec(line)?.[1];
    return place === undefined ? [] : [place.replace(/^file:\/\//, '')];
  });
  const place = frames.find((frame) => frame.startsWith(sources)) ?? frames[0];
  return place?.startsWith(sources) ? relative(sources, place) : place;
}

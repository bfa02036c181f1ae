import { useEffect } from 'react';
import { announce } from './announce.tsx';

/** Announces its text when it appears and whenever it changes. */
export function Announcement({ text }: { text: string }) {
  useEffect(() => announce(text), [text]);
  return null;
}

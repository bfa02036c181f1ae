import { useState } from 'react';
import { words } from '../words/index.ts';
import { announce } from './announce.tsx';
import { Icon } from './icons.tsx';

/** Copies a text to the clipboard. Without `label` it is an icon named by `name`. */
export function CopyButton({ text, label, name }: { text: () => string; label?: string; name?: string }) {
  const [isCopied, setCopied] = useState(false);
  // Set if the browser provides no clipboard: the text to copy by hand.
  const [shown, setShown] = useState<string | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setCopied(true);
      announce(words.shell.copied);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      setShown(text());
    }
  };
  if (shown !== null) {
    return (
      <textarea
        className="input"
        readOnly
        value={shown}
        rows={4}
        aria-label={label ?? name ?? words.shell.copy}
        ref={(area) => area?.select()}
      />
    );
  }
  return (
    <button
      type="button"
      className={label ? 'button' : 'button button-quiet button-icon button-small'}
      aria-label={label ? undefined : (name ?? words.shell.copy)}
      onClick={copy}
    >
      <Icon name={isCopied ? 'check' : 'copy'} size={label ? 16 : 14} />
      {label && (isCopied ? words.shell.copied : label)}
    </button>
  );
}

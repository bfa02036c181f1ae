import { useState } from 'react';
import { chooseLanguage } from '../api/writes.ts';
import { settings } from '../settings.ts';
import { words } from '../words/index.ts';

const OTHER = settings.language === 'he' ? 'en' : 'he';

/** Switches the console to the other language; the server then renders the page in it. */
export function LanguageButton() {
  const [isWorking, setWorking] = useState(false);
  const choose = async () => {
    setWorking(true);
    try {
      await chooseLanguage(OTHER);
      location.reload();
    } catch {
      setWorking(false);
    }
  };
  return (
    <button type="button" className="button button-quiet" lang={OTHER} aria-busy={isWorking} onClick={choose}>
      {words.otherLanguage}
    </button>
  );
}

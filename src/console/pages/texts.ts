import type { Language } from '../../kernel/language.ts';

/** Messages of pages without the program. */
export type Message = 'building' | 'failed' | 'denied' | 'unavailable' | 'crossSite';

interface Text {
  readonly title: string;
  readonly text: string;
}

export const messages: Readonly<Record<Language, Readonly<Record<Message, Text>>>> = {
  en: {
    building: {
      title: 'The console is being prepared',
      text: 'This takes a moment at the first start. The page opens by itself as soon as it is ready.',
    },
    failed: {
      title: 'The console could not be built',
      text: 'The service itself works as usual. Its log says why the console could not be built; the next start tries again.',
    },
    denied: {
      title: 'This file is not open to you',
      text: 'You are signed in as {name}, who may not open this file. Whoever manages the system can give you the right to.',
    },
    unavailable: {
      title: 'The service is not available right now',
      text: 'Please try again in a moment.',
    },
    crossSite: {
      title: 'This request came from another site',
      text: 'The console takes requests of its own pages alone.',
    },
  },
  he: {
    building: {
      title: 'המסוף בהכנה',
      text: 'בהפעלה הראשונה זה לוקח רגע. העמוד ייפתח מעצמו ברגע שהמסוף יהיה מוכן.',
    },
    failed: {
      title: 'לא ניתן היה לבנות את המסוף',
      text: 'השירות עצמו פועל כרגיל. הסיבה רשומה ביומן של השירות; בהפעלה הבאה ייעשה ניסיון נוסף.',
    },
    denied: {
      title: 'אין לך הרשאה לפתוח את הקובץ',
      text: 'נכנסת בשם {name}, ולמשתמש הזה אין הרשאה לפתוח את הקובץ. מנהל המערכת יכול לתת לך הרשאה.',
    },
    unavailable: {
      title: 'השירות אינו זמין כרגע',
      text: 'כדאי לנסות שוב בעוד רגע.',
    },
    crossSite: {
      title: 'הבקשה הגיעה מאתר אחר',
      text: 'המסוף מקבל בקשות מהעמודים שלו בלבד.',
    },
  },
};

/** Link texts on these pages. */
export const linkTexts: Readonly<Record<Language, { readonly other: string; readonly home: string }>> = {
  en: { other: 'Sign in as someone else', home: 'Open the console' },
  he: { other: 'כניסה בשם משתמש אחר', home: 'למסוף' },
};

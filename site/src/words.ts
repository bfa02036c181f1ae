/** The words around the pages, in both languages. */
import type { DefaultTheme } from 'vitepress';

type SearchWords = Partial<DefaultTheme.LocalSearchOptions>;

export const searchWordsHe: SearchWords = {
  translations: {
    button: { buttonText: 'חיפוש', buttonAriaLabel: 'חיפוש במדריכים' },
    modal: {
      displayDetails: 'הצגת פרטים',
      resetButtonTitle: 'ניקוי החיפוש',
      backButtonTitle: 'סגירת החיפוש',
      noResultsText: 'לא נמצא דבר עבור',
      footer: {
        selectText: 'בחירה',
        selectKeyAriaLabel: 'Enter',
        navigateText: 'מעבר',
        navigateUpKeyAriaLabel: 'חץ למעלה',
        navigateDownKeyAriaLabel: 'חץ למטה',
        closeText: 'סגירה',
        closeKeyAriaLabel: 'Esc',
      },
    },
  },
};

export const themeWordsHe: DefaultTheme.Config = {
  outline: { level: [2, 3], label: 'בדף הזה' },
  docFooter: { prev: 'הדף הקודם', next: 'הדף הבא' },
  darkModeSwitchLabel: 'ערכת צבעים',
  lightModeSwitchTitle: 'ערכה בהירה',
  darkModeSwitchTitle: 'ערכה כהה',
  sidebarMenuLabel: 'תפריט',
  returnToTopLabel: 'לראש הדף',
  langMenuLabel: 'שפה',
  skipToContentLabel: 'דילוג לתוכן',
  notFound: {
    title: 'הדף לא נמצא',
    quote: 'אין דבר בכתובת הזאת.',
    linkLabel: 'לדף הבית',
    linkText: 'לדף הבית',
  },
};

/** What the line above a page says that exists in the other language: in that language. */
export const inOtherLanguage = { en: 'This page in English', he: 'הדף הזה בעברית' };

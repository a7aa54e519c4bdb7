// The words of the pages of a log, in each language.

Object.assign(STRINGS.en, {
  "log.page.graph": "Graph", "log.page.scalar": "Scalars", "log.page.histogram": "Histograms", "log.page.distribution": "Distributions", "log.page.image": "Images", "log.page.audio": "Audio", "log.page.text": "Text", "log.page.pr_curve": "PR curves", "log.page.hparams": "HParams", "log.page.tensor": "Tensors", "log.pages": "Pages", "log.runs": "Runs", "log.filterRuns": "Filter runs, /regex/", "log.sortRuns": "Sort runs",
  "log.allRuns": "All runs", "log.sort.name": "by name", "log.sort.time": "newest first", "log.sort.step": "by step", "log.badPattern": "Not a valid regular expression",
  "log.noRuns": "No run matches", "log.state.reading": "reading", "log.state.gone": "gone", "log.lastStep": "Last step", "log.filterTags": "Filter tags, /regex/", "log.smoothing": "Smoothing",
  "log.axis": "Axis", "log.axis.step": "Step", "log.axis.relative": "Relative", "log.axis.wall": "Time", "log.logX": "log x", "log.logY": "log y", "log.outliers": "Outliers",
  "log.restarts": "Restarts", "log.charts": "Charts", "log.pinned": "Pinned", "log.noTags": "No tag matches", "log.noneYet": "Nothing is logged here yet", "log.showAll": "Show all {n}",
  "log.pin": "Pin", "log.wide": "Full width", "log.more": "More", "log.table": "Show as table", "log.copy": "Copy values", "log.csv": "Download CSV", "log.json": "Download JSON",
  "log.copied": "Values copied", "log.lost": "The points could not be read: {error}", "log.odd": "{n} not finite", "log.hidden": "{n} not on the log axis", "log.nothing": "No chosen run logs this",
  "log.runCount": "{n} runs", "log.lastValues": "last values", "log.value": "Value", "log.smoothed": "Smoothed", "log.wall": "Time", "log.lastRows": "The last {n} of {all} rows",
  "log.live": "live", "log.leftOut": "{n} tags are not in this file: write it with a larger --page-max.", "log.thinned": "{n} of {all} points", "log.notLive": "not live", "log.mode": "Mode", "log.offset": "Offset", "log.overlay": "Overlay", "log.count": "Count", "log.bin": "Values", "log.steps": "{n} steps", "log.someSteps": "{n} of {all} steps", "log.range": "range {low} to {high}", "log.median": "last median {value}", "help.tags": "Filter tags", "help.cards": "Next, previous card", "help.pages": "Go to a page",
});
Object.assign(STRINGS.ko, {
  "log.page.graph": "그래프", "log.page.scalar": "스칼라", "log.page.histogram": "히스토그램", "log.page.distribution": "분포", "log.page.image": "이미지", "log.page.audio": "오디오", "log.page.text": "텍스트", "log.page.pr_curve": "PR 곡선", "log.page.hparams": "하이퍼파라미터", "log.page.tensor": "텐서", "log.pages": "페이지", "log.runs": "실행", "log.filterRuns": "실행 거르기, /정규식/", "log.sortRuns": "실행 정렬",
  "log.allRuns": "모든 실행", "log.sort.name": "이름순", "log.sort.time": "최신순", "log.sort.step": "단계순", "log.badPattern": "올바른 정규식이 아닙니다",
  "log.noRuns": "맞는 실행이 없습니다", "log.state.reading": "읽는 중", "log.state.gone": "없어짐", "log.lastStep": "마지막 단계", "log.filterTags": "태그 거르기, /정규식/", "log.smoothing": "평활",
  "log.axis": "축", "log.axis.step": "단계", "log.axis.relative": "경과", "log.axis.wall": "시각", "log.logX": "로그 x", "log.logY": "로그 y", "log.outliers": "이상값",
  "log.restarts": "재시작", "log.charts": "차트", "log.pinned": "고정됨", "log.noTags": "맞는 태그가 없습니다", "log.noneYet": "아직 기록된 것이 없습니다", "log.showAll": "모두 보기({n})",
  "log.pin": "고정", "log.wide": "전체 너비", "log.more": "더 보기", "log.table": "표로 보기", "log.copy": "값 복사", "log.csv": "CSV 내려받기", "log.json": "JSON 내려받기",
  "log.copied": "값을 복사했습니다", "log.lost": "점을 읽지 못했습니다: {error}", "log.odd": "유한하지 않은 값 {n}개", "log.hidden": "로그 축에 없는 값 {n}개", "log.nothing": "선택한 실행에는 없습니다",
  "log.runCount": "실행 {n}개", "log.lastValues": "마지막 값", "log.value": "값", "log.smoothed": "평활값", "log.wall": "시각", "log.lastRows": "전체 {all}행 중 마지막 {n}행",
  "log.live": "실시간", "log.leftOut": "태그 {n}개는 이 파일에 없습니다. --page-max를 늘려 다시 만드십시오.", "log.thinned": "점 {all}개 중 {n}개", "log.notLive": "연결 끊김", "log.mode": "모드", "log.offset": "간격", "log.overlay": "겹침", "log.count": "개수", "log.bin": "값", "log.steps": "단계 {n}개", "log.someSteps": "단계 {all}개 중 {n}개", "log.range": "범위 {low}~{high}", "log.median": "마지막 중앙값 {value}", "help.tags": "태그 거르기", "help.cards": "다음·이전 카드", "help.pages": "페이지로 이동",
});

//! Decodes every column of the given files on all cores, drops it, and prints the number of rows: what any comparison has to pay.

use std::error::Error;
use std::num::NonZero;
use std::thread;

use trueup_extract::{Options, Scan, open};

fn main() -> Result<(), Box<dyn Error>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut rows = 0;
    for path in std::env::args().skip(1) {
        let table = open(&path, &Options { threads, ..Options::new(std::env::temp_dir()) })?;
        let columns: Vec<usize> = (0..table.schema().fields().len()).collect();
        let scan = table.scan(&columns, None)?;
        rows += thread::scope(|scope| {
            let readers: Vec<_> = (0..threads).map(|_| scope.spawn(|| read(&scan))).collect();
            readers
                .into_iter()
                .map(|reader| reader.join().expect("a reader does not panic"))
                .sum::<Result<usize, _>>()
        })?;
    }
    println!("{rows}");
    Ok(())
}

/// Reads parts until there are none left and counts their rows.
fn read(scan: &Scan<'_>) -> Result<usize, trueup_extract::Error> {
    let mut rows = 0;
    while let Some(part) = scan.next_part()? {
        for batch in part.batches {
            rows += batch?.num_rows();
        }
    }
    Ok(rows)
}
